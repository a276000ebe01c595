"""The landscape chart: drives by speed and share of slow reads, and by speed and endurance."""
