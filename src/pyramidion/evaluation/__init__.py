"""The main job: references and peers in; pyramids built, units judged, peers scored."""
