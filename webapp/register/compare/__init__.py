"""The page that compares 2 to 6 drives or runs. webapp/register/comparability decides whether runs compare."""
