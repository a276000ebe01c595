"""Campaign pages: start and follow a campaign that raises the load. runners/campaigns schedules its runs."""
