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
<scu uid="1" label="Port Ambry is introducing water rationing">
 <contributor label="Port Ambry will ration water">
  <part label="Port Ambry will ration water" start="24" end="52"/>
 </contributor>
 <contributor label="the city of Port Ambry has decided to ration water">
  <part label="the city of Port Ambry has decided to ration water" start="834" end="884"/>
 </contributor>
</scu>
<scu uid="2" label="Each resident may use no more than 120 litres a day">
 <contributor label="the city limits every resident to 120 litres a day">
  <part label="the city limits every resident to 120 litres a day" start="108" end="158"/>
 </contributor>
 <contributor label="No resident will be allowed more than 120 litres per day">
  <part label="No resident will be allowed more than 120 litres per day" start="886" end="942"/>
 </contributor>
</scu>
<scu uid="3" label="The reservoir has fallen to 23 percent of its capacity">
 <contributor label="have left its reservoir, Lake Tessary, only 23 percent full">
  <part label="have left its reservoir, Lake Tessary, only 23 percent full" start="183" end="242"/>
 </contributor>
 <contributor label="With its reservoir down to 23 percent of capacity">
  <part label="With its reservoir down to 23 percent of capacity" start="756" end="805"/>
 </contributor>
</scu>
<scu uid="4" label="Farmers have gone to court against the city">
 <contributor label="Farmers in the Orlen Valley have gone to court">
  <part label="Farmers in the Orlen Valley have gone to court" start="510" end="556"/>
 </contributor>
 <contributor label="Growers in the Orlen Valley...are suing the city">
  <part label="Growers in the Orlen Valley" start="1173" end="1200"/>
  <part label="are suing the city" start="1249" end="1267"/>
 </contributor>
</scu>
<scu uid="5" label="The city has approved a desalination plant">
 <contributor label="The city has also approved a desalination plant">
  <part label="The city has also approved a desalination plant" start="610" end="657"/>
 </contributor>
 <contributor label="The council has also agreed to a desalination plant">
  <part label="The council has also agreed to a desalination plant" start="1269" end="1320"/>
 </contributor>
</scu>
<scu uid="6" label="Watering lawns is forbidden">
 <contributor label="Lawns may not be watered">
  <part label="Lawns may not be watered" start="244" end="268"/>
 </contributor>
 <contributor label="It will be illegal to water a lawn">
  <part label="It will be illegal to water a lawn" start="956" end="990"/>
 </contributor>
</scu>
<scu uid="7" label="The fine for a first offence is 200 dollars">
 <contributor label="A first breach of the rules costs 200 dollars">
  <part label="A first breach of the rules costs 200 dollars" start="373" end="418"/>
 </contributor>
</scu>
<scu uid="8" label="Hospitals are exempt">
 <contributor label="Hospitals...are exempt">
  <part label="Hospitals" start="420" end="429"/>
  <part label="are exempt" start="451" end="461"/>
 </contributor>
 <contributor label="Hospitals...are not bound by the rules">
  <part label="Hospitals" start="1082" end="1091"/>
  <part label="are not bound by the rules" start="1145" end="1171"/>
 </contributor>
</scu>
<scu uid="9" label="The rules will be reviewed on October 15">
 <contributor label="A review of the rules will take place on October 15">
  <part label="A review of the rules will take place on October 15" start="1487" end="1538"/>
 </contributor>
</scu>
<scu uid="10" label="Rationing begins on July 1">
 <contributor label="Starting on July 1">
  <part label="Starting on July 1" start="88" end="106"/>
 </contributor>
 <contributor label="from July 1">
  <part label="from July 1" start="943" end="954"/>
 </contributor>
</scu>
<scu uid="11" label="There have been three years of drought">
 <contributor label="Three years of drought">
  <part label="Three years of drought" start="160" end="182"/>
 </contributor>
 <contributor label="after a three-year drought">
  <part label="after a three-year drought" start="806" end="832"/>
 </contributor>
</scu>
<scu uid="12" label="The farmers lose 40 percent of their irrigation water">
 <contributor label="Growers...who lose 40 percent of their irrigation water">
  <part label="Growers" start="1173" end="1180"/>
  <part label="who lose 40 percent of their irrigation water" start="1202" end="1247"/>
 </contributor>
</scu>
<scu uid="13" label="The desalination plant will cost 310 million dollars">
 <contributor label="which will cost 310 million dollars">
  <part label="which will cost 310 million dollars" start="659" end="694"/>
 </contributor>
 <contributor label="It is priced at 310 million dollars">
  <part label="It is priced at 310 million dollars" start="1322" end="1357"/>
 </contributor>
</scu>
<scu uid="14" label="Washing cars at home is forbidden">
 <contributor label="cars may not be washed at home">
  <part label="cars may not be washed at home" start="273" end="303"/>
 </contributor>
</scu>
<scu uid="16" label="Households with a medical need are exempt">
 <contributor label="households with a medical need are not bound by the rules">
  <part label="households with a medical need are not bound by the rules" start="1114" end="1171"/>
 </contributor>
</scu>
<scu uid="17" label="The farmers say that the plan breaks a contract of 1974">
 <contributor label="claiming that the plan violates a contract of 1974">
  <part label="claiming that the plan violates a contract of 1974" start="558" end="608"/>
 </contributor>
</scu>
<scu uid="18" label="The plant will supply a quarter of the city's water">
 <contributor label="is to supply a quarter of the city's water">
  <part label="is to supply a quarter of the city's water" start="1362" end="1404"/>
 </contributor>
</scu>
<scu uid="19" label="The fire service is exempt">
 <contributor label="the fire service are exempt">
  <part label="the fire service are exempt" start="434" end="461"/>
 </contributor>
 <contributor label="the fire service...are not bound by the rules">
  <part label="the fire service" start="1093" end="1109"/>
  <part label="are not bound by the rules" start="1145" end="1171"/>
 </contributor>
</scu>
<scu uid="20" label="Filling private pools is forbidden">
 <contributor label="It will be illegal...or to fill a private pool">
  <part label="It will be illegal" start="956" end="974"/>
  <part label="or to fill a private pool" start="991" end="1016"/>
 </contributor>
</scu>
<scu uid="22" label="The desalination plant is to open in four years">
 <contributor label="should be running in four years">
  <part label="should be running in four years" start="699" end="730"/>
 </contributor>
</scu>
<scu uid="23" label="It is the first water rationing in the city's history">
 <contributor label="ration water for the first time in its history">
  <part label="ration water for the first time in its history" start="40" end="86"/>
 </contributor>
</scu>
<scu uid="25" label="Restaurants will serve water only on request">
 <contributor label="restaurants will bring water only to guests who ask for it">
  <part label="restaurants will bring water only to guests who ask for it" start="1022" end="1080"/>
 </contributor>
</scu>
<scu uid="26" label="Vegetable gardens may be watered by hand in the evening">
 <contributor label="though vegetable plots can still be watered by hand in the evening">
  <part label="though vegetable plots can still be watered by hand in the evening" start="305" end="371"/>
 </contributor>
</scu>
<scu uid="29" label="Environmental groups fear that the plant's salty waste will harm the oyster beds">
 <contributor label="but environmental groups worry that its salty waste will damage the oyster beds">
  <part label="but environmental groups worry that its salty waste will damage the oyster beds" start="1406" end="1485"/>
 </contributor>
</scu>
<scu uid="31" label="The aim is to cut water use by 30 percent">
 <contributor label="The aim is to lower consumption by 30 percent">
  <part label="The aim is to lower consumption by 30 percent" start="463" end="508"/>
 </contributor>
</scu>
</pyramid>
<annotation>
<text>
<line>After a debate that lasted until two in the morning, the city council voted on Thursday to ration water for the first time in Port Ambry's history. From July 1, each resident may use no more than 120 litres a day. Watering lawns is forbidden, as are filling private pools and washing cars at home. A first offence brings a fine of 200 dollars; from the third offence on, the fine is 1,000 dollars. Free shower heads that save water are being handed out at fire stations. Growers in the nearby Orlen Valley, whose irrigation water is being cut by 40 percent, filed a lawsuit against the city on Friday. A hearing is set for June 20.</line>
</text>
<peerscu uid="1" label="(2) Port Ambry is introducing water rationing">
 <contributor label="the city council voted...to ration water...Port Ambry's">
  <part label="the city council voted" start="53" end="75"/>
  <part label="to ration water" start="88" end="103"/>
  <part label="Port Ambry's" start="126" end="138"/>
 </contributor>
</peerscu>
<peerscu uid="2" label="(2) Each resident may use no more than 120 litres a day">
 <contributor label="each resident may use no more than 120 litres a day">
  <part label="each resident may use no more than 120 litres a day" start="161" end="212"/>
 </contributor>
</peerscu>
<peerscu uid="3" label="(2) The reservoir has fallen to 23 percent of its capacity">
</peerscu>
<peerscu uid="4" label="(2) Farmers have gone to court against the city">
 <contributor label="Growers in the nearby Orlen Valley...filed a lawsuit against the city">
  <part label="Growers in the nearby Orlen Valley" start="471" end="505"/>
  <part label="filed a lawsuit against the city" start="558" end="590"/>
 </contributor>
</peerscu>
<peerscu uid="5" label="(2) The city has approved a desalination plant">
</peerscu>
<peerscu uid="6" label="(2) Watering lawns is forbidden">
 <contributor label="Watering lawns is forbidden">
  <part label="Watering lawns is forbidden" start="214" end="241"/>
 </contributor>
</peerscu>
<peerscu uid="7" label="(1) The fine for a first offence is 200 dollars">
 <contributor label="A first offence brings a fine of 200 dollars">
  <part label="A first offence brings a fine of 200 dollars" start="298" end="342"/>
 </contributor>
</peerscu>
<peerscu uid="8" label="(2) Hospitals are exempt">
</peerscu>
<peerscu uid="9" label="(1) The rules will be reviewed on October 15">
</peerscu>
<peerscu uid="10" label="(2) Rationing begins on July 1">
 <contributor label="From July 1">
  <part label="From July 1" start="148" end="159"/>
 </contributor>
</peerscu>
<peerscu uid="11" label="(2) There have been three years of drought">
</peerscu>
<peerscu uid="12" label="(1) The farmers lose 40 percent of their irrigation water">
 <contributor label="Growers...whose irrigation water is being cut by 40 percent">
  <part label="Growers" start="471" end="478"/>
  <part label="whose irrigation water is being cut by 40 percent" start="507" end="556"/>
 </contributor>
</peerscu>
<peerscu uid="13" label="(2) The desalination plant will cost 310 million dollars">
</peerscu>
<peerscu uid="14" label="(1) Washing cars at home is forbidden">
 <contributor label="forbidden, as are...washing cars at home">
  <part label="forbidden, as are" start="232" end="249"/>
  <part label="washing cars at home" start="276" end="296"/>
 </contributor>
</peerscu>
<peerscu uid="16" label="(1) Households with a medical need are exempt">
</peerscu>
<peerscu uid="17" label="(1) The farmers say that the plan breaks a contract of 1974">
</peerscu>
<peerscu uid="18" label="(1) The plant will supply a quarter of the city's water">
</peerscu>
<peerscu uid="19" label="(2) The fire service is exempt">
</peerscu>
<peerscu uid="20" label="(1) Filling private pools is forbidden">
 <contributor label="forbidden, as are filling private pools">
  <part label="forbidden, as are filling private pools" start="232" end="271"/>
 </contributor>
</peerscu>
<peerscu uid="22" label="(1) The desalination plant is to open in four years">
</peerscu>
<peerscu uid="23" label="(1) It is the first water rationing in the city's history">
 <contributor label="to ration water for the first time in Port Ambry's history">
  <part label="to ration water for the first time in Port Ambry's history" start="88" end="146"/>
 </contributor>
</peerscu>
<peerscu uid="25" label="(1) Restaurants will serve water only on request">
</peerscu>
<peerscu uid="26" label="(1) Vegetable gardens may be watered by hand in the evening">
</peerscu>
<peerscu uid="29" label="(1) Environmental groups fear that the plant's salty waste will harm the oyster beds">
</peerscu>
<peerscu uid="31" label="(1) The aim is to cut water use by 30 percent">
</peerscu>
<peerscu uid="0" label="All non-matching SCUs go here">
 <contributor label="After a debate that lasted until two in the morning">
  <part label="After a debate that lasted until two in the morning" start="0" end="51"/>
 </contributor>
 <contributor label="voted on Thursday">
  <part label="voted on Thursday" start="70" end="87"/>
 </contributor>
 <contributor label="Free shower heads that save water are being handed out at fire stations">
  <part label="Free shower heads that save water are being handed out at fire stations" start="398" end="469"/>
 </contributor>
 <contributor label="filed a lawsuit...on Friday">
  <part label="filed a lawsuit" start="558" end="573"/>
  <part label="on Friday" start="591" end="600"/>
 </contributor>
</peerscu>
</annotation>
</peerAnnotation>
