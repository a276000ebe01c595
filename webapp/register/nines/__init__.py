"""The page of slow reads at scale, from one drive to many racks."""
