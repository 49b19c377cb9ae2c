<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE peerAnnotation [
 <!ELEMENT peerAnnotation (pyramid,annotation)>
 <!ELEMENT annotation (text,peerscu*)>
 <!ELEMENT peerscu (contributor)*>
 <!ATTLIST peerscu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT pyramid (startDocumentRegEx?,text,scu*)>
 <!ELEMENT startDocumentRegEx (#PCDATA)>
 <!ELEMENT text (line*)>
 <!ELEMENT line (#PCDATA)>
 <!ELEMENT scu (contributor)+>
 <!ATTLIST scu uid CDATA #REQUIRED label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT contributor (part)+>
 <!ATTLIST contributor label CDATA #REQUIRED comment CDATA #IMPLIED>
 <!ELEMENT part EMPTY>
 <!ATTLIST part label CDATA #REQUIRED start CDATA #REQUIRED end CDATA #REQUIRED>
]>
<peerAnnotation>
<pyramid>
<startDocumentRegEx><![CDATA[(?m)^-{10} .+ -{10}$]]></startDocumentRegEx>
<text>
<line>---------- A ----------</line>
<line>Port Ambry will ration water for the first time in its history. Starting on July 1, the city limits every resident to 120 litres a day. Three years of drought have left its reservoir, Lake Tessary, only 23 percent full. Lawns may not be watered and cars may not be washed at home, though vegetable plots can still be watered by hand in the evening. A first breach of the rules costs 200 dollars. Hospitals and the fire service are exempt. The aim is to lower consumption by 30 percent. Farmers in the Orlen Valley have gone to court, claiming that the plan violates a contract of 1974. The city has also approved a desalination plant, which will cost 310 million dollars and should be running in four years.</line>
<line>---------- B ----------</line>
<line>With its reservoir down to 23 percent of capacity after a three-year drought, the city of Port Ambry has decided to ration water. No resident will be allowed more than 120 litres per day from July 1. It will be illegal to water a lawn or to fill a private pool, and restaurants will bring water only to guests who ask for it. Hospitals, the fire service and households with a medical need are not bound by the rules. Growers in the Orlen Valley, who lose 40 percent of their irrigation water, are suing the city. The council has also agreed to a desalination plant. It is priced at 310 million dollars and is to supply a quarter of the city's water, but environmental groups worry that its salty waste will damage the oyster beds. A review of the rules will take place on October 15.</line>
</text>
<scu uid="1" label="It is priced at 310 million dollars">
 <contributor label="which will cost 310 million dollars">
  <part label="which will cost 310 million dollars" start="659" end="694"/>
 </contributor>
 <contributor label="It is priced at 310 million dollars">
  <part label="It is priced at 310 million dollars" start="1322" end="1357"/>
 </contributor>
</scu>
<scu uid="2" label="Starting on July 1, the city limits every resident to 120 litres a day.">
 <contributor label="Starting on July 1, the city limits every resident to 120 litres a day.">
  <part label="Starting on July 1, the city limits every resident to 120 litres a day." start="88" end="159"/>
 </contributor>
 <contributor label="No resident will be allowed more than 120 litres per day from July 1.">
  <part label="No resident will be allowed more than 120 litres per day from July 1." start="886" end="955"/>
 </contributor>
</scu>
<scu uid="3" label="Port Ambry will ration water for the first time in its history.">
 <contributor label="Port Ambry will ration water for the first time in its history.">
  <part label="Port Ambry will ration water for the first time in its history." start="24" end="87"/>
 </contributor>
 <contributor label="the city of Port Ambry has decided to ration water.">
  <part label="the city of Port Ambry has decided to ration water." start="834" end="885"/>
 </contributor>
</scu>
<scu uid="4" label="The city has also approved a desalination plant">
 <contributor label="The city has also approved a desalination plant,">
  <part label="The city has also approved a desalination plant," start="610" end="658"/>
 </contributor>
 <contributor label="The council has also agreed to a desalination plant.">
  <part label="The council has also agreed to a desalination plant." start="1269" end="1321"/>
 </contributor>
</scu>
<scu uid="5" label="Three years of drought have left its reservoir, Lake Tessary, only 23 percent full.">
 <contributor label="Three years of drought have left its reservoir, Lake Tessary, only 23 percent full.">
  <part label="Three years of drought have left its reservoir, Lake Tessary, only 23 percent full." start="160" end="243"/>
 </contributor>
 <contributor label="With its reservoir down to 23 percent of capacity after a three-year drought,">
  <part label="With its reservoir down to 23 percent of capacity after a three-year drought," start="756" end="833"/>
 </contributor>
</scu>
<scu uid="6" label="Hospitals and the fire service are exempt.">
 <contributor label="Hospitals and the fire service are exempt.">
  <part label="Hospitals and the fire service are exempt." start="420" end="462"/>
 </contributor>
 <contributor label="Hospitals, the fire service and households with a medical need are not bound by the rules.">
  <part label="Hospitals, the fire service and households with a medical need are not bound by the rules." start="1082" end="1172"/>
 </contributor>
</scu>
<scu uid="7" label="Farmers in the Orlen Valley have gone to court">
 <contributor label="Farmers in the Orlen Valley have gone to court,">
  <part label="Farmers in the Orlen Valley have gone to court," start="510" end="557"/>
 </contributor>
 <contributor label="Growers in the Orlen Valley...are suing the city.">
  <part label="Growers in the Orlen Valley" start="1173" end="1200"/>
  <part label="are suing the city." start="1249" end="1268"/>
 </contributor>
</scu>
<scu uid="8" label="Lawns may not be watered">
 <contributor label="Lawns may not be watered">
  <part label="Lawns may not be watered" start="244" end="268"/>
 </contributor>
 <contributor label="to water a lawn or to fill a private pool,">
  <part label="to water a lawn or to fill a private pool," start="975" end="1017"/>
 </contributor>
</scu>
<scu uid="9" label="The aim is to lower consumption by 30 percent.">
 <contributor label="The aim is to lower consumption by 30 percent.">
  <part label="The aim is to lower consumption by 30 percent." start="463" end="509"/>
 </contributor>
 <contributor label="who lose 40 percent of their irrigation water,">
  <part label="who lose 40 percent of their irrigation water," start="1202" end="1248"/>
 </contributor>
</scu>
<scu uid="10" label="A first breach of the rules costs 200 dollars.">
 <contributor label="A first breach of the rules costs 200 dollars.">
  <part label="A first breach of the rules costs 200 dollars." start="373" end="419"/>
 </contributor>
 <contributor label="A review of the rules will take place on October 15.">
  <part label="A review of the rules will take place on October 15." start="1487" end="1539"/>
 </contributor>
</scu>
<scu uid="11" label="It is to supply a quarter of the city's water">
 <contributor label="which...and should be running in four years.">
  <part label="which" start="659" end="664"/>
  <part label="and should be running in four years." start="695" end="731"/>
 </contributor>
 <contributor label="It...and is to supply a quarter of the city's water,">
  <part label="It" start="1322" end="1324"/>
  <part label="and is to supply a quarter of the city's water," start="1358" end="1405"/>
 </contributor>
</scu>
<scu uid="12" label="Cars may not be washed at home">
 <contributor label="and cars may not be washed at home,">
  <part label="and cars may not be washed at home," start="269" end="304"/>
 </contributor>
</scu>
<scu uid="13" label="Though vegetable plots can still be watered by hand in the evening.">
 <contributor label="though vegetable plots can still be watered by hand in the evening.">
  <part label="though vegetable plots can still be watered by hand in the evening." start="305" end="372"/>
 </contributor>
</scu>
<scu uid="14" label="Claiming that the plan violates a contract of 1974.">
 <contributor label="claiming that the plan violates a contract of 1974.">
  <part label="claiming that the plan violates a contract of 1974." start="558" end="609"/>
 </contributor>
</scu>
<scu uid="15" label="It will be illegal">
 <contributor label="It will be illegal">
  <part label="It will be illegal" start="956" end="974"/>
 </contributor>
</scu>
<scu uid="16" label="Restaurants will bring water only to guests">
 <contributor label="and restaurants will bring water only to guests">
  <part label="and restaurants will bring water only to guests" start="1018" end="1065"/>
 </contributor>
</scu>
<scu uid="17" label="Who ask for it.">
 <contributor label="who ask for it.">
  <part label="who ask for it." start="1066" end="1081"/>
 </contributor>
</scu>
<scu uid="18" label="Environmental groups worry">
 <contributor label="but environmental groups worry">
  <part label="but environmental groups worry" start="1406" end="1436"/>
 </contributor>
</scu>
<scu uid="19" label="Its salty waste will damage the oyster beds.">
 <contributor label="that its salty waste will damage the oyster beds.">
  <part label="that its salty waste will damage the oyster beds." start="1437" end="1486"/>
 </contributor>
</scu>
</pyramid>
<annotation>
<text>
<line>The fountain in front of Port Ambry's city hall, where children used to cool their feet, has been dry since April, and a sparrow has built its nest in the bronze spout. After a debate that lasted until two in the morning, the city council voted on Thursday to ration water for the first time in Port Ambry's history. From July 1, each resident may use no more than 120 litres a day. Lake Tessary, the reservoir that supplies the city's 340,000 people, has fallen to 23 percent of its capacity after three years of drought. "Nobody ran for office to do this," said Mayor Corinne Dale, fanning herself with the agenda.</line>
</text>
<peerscu uid="1" label="(2) It is priced at 310 million dollars">
</peerscu>
<peerscu uid="2" label="(2) Starting on July 1, the city limits every resident to 120 litres a day.">
 <contributor label="From July 1, each resident may use no more than 120 litres a day">
  <part label="From July 1, each resident may use no more than 120 litres a day" start="317" end="381"/>
 </contributor>
</peerscu>
<peerscu uid="3" label="(2) Port Ambry will ration water for the first time in its history.">
 <contributor label="ration water for the first time in Port Ambry's history">
  <part label="ration water for the first time in Port Ambry's history" start="260" end="315"/>
 </contributor>
</peerscu>
<peerscu uid="4" label="(2) The city has also approved a desalination plant">
</peerscu>
<peerscu uid="5" label="(2) Three years of drought have left its reservoir, Lake Tessary, only 23 percent full.">
 <contributor label="reservoir that supplies the city's 340,000 people, has fallen to 23 percent of its capacity after three years of drought">
  <part label="reservoir that supplies the city's 340,000 people, has fallen to 23 percent of its capacity after three years of drought" start="401" end="521"/>
 </contributor>
</peerscu>
<peerscu uid="6" label="(2) Hospitals and the fire service are exempt.">
</peerscu>
<peerscu uid="7" label="(2) Farmers in the Orlen Valley have gone to court">
</peerscu>
<peerscu uid="8" label="(2) Lawns may not be watered">
</peerscu>
<peerscu uid="9" label="(2) The aim is to lower consumption by 30 percent.">
</peerscu>
<peerscu uid="10" label="(2) A first breach of the rules costs 200 dollars.">
</peerscu>
<peerscu uid="11" label="(2) It is to supply a quarter of the city's water">
 <contributor label="water...supplies the city">
  <part label="water" start="267" end="272"/>
  <part label="supplies the city" start="416" end="433"/>
 </contributor>
</peerscu>
<peerscu uid="12" label="(1) Cars may not be washed at home">
</peerscu>
<peerscu uid="13" label="(1) Though vegetable plots can still be watered by hand in the evening.">
</peerscu>
<peerscu uid="14" label="(1) Claiming that the plan violates a contract of 1974.">
</peerscu>
<peerscu uid="15" label="(1) It will be illegal">
</peerscu>
<peerscu uid="16" label="(1) Restaurants will bring water only to guests">
</peerscu>
<peerscu uid="17" label="(1) Who ask for it.">
</peerscu>
<peerscu uid="18" label="(1) Environmental groups worry">
</peerscu>
<peerscu uid="19" label="(1) Its salty waste will damage the oyster beds.">
</peerscu>
<peerscu uid="0" label="All non-matching SCUs go here">
 <contributor label="The fountain in front of Port Ambry's city hall,">
  <part label="The fountain in front of Port Ambry's city hall," start="0" end="48"/>
 </contributor>
 <contributor label="where children used to cool their feet,">
  <part label="where children used to cool their feet," start="49" end="88"/>
 </contributor>
 <contributor label="children...has been dry since April,">
  <part label="children" start="55" end="63"/>
  <part label="has been dry since April," start="89" end="114"/>
 </contributor>
 <contributor label="and a sparrow has built its nest in the bronze spout.">
  <part label="and a sparrow has built its nest in the bronze spout." start="115" end="168"/>
 </contributor>
 <contributor label="After a debate">
  <part label="After a debate" start="169" end="183"/>
 </contributor>
 <contributor label="that lasted until two in the morning,">
  <part label="that lasted until two in the morning," start="184" end="221"/>
 </contributor>
 <contributor label="&quot;Nobody ran for office">
  <part label="&quot;Nobody ran for office" start="523" end="545"/>
 </contributor>
 <contributor label="Nobody...to do this,&quot;">
  <part label="Nobody" start="524" end="530"/>
  <part label="to do this,&quot;" start="546" end="558"/>
 </contributor>
 <contributor label="said Mayor Corinne Dale, fanning herself with the agenda.">
  <part label="said Mayor Corinne Dale, fanning herself with the agenda." start="559" end="616"/>
 </contributor>
</peerscu>
</annotation>
</peerAnnotation>
