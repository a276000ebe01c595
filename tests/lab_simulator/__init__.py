"""Lab hosts that answer like real ones, in virtual time; they themselves count the loads on each physical drive."""
