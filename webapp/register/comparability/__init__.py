"""Test conditions and the check whether runs compare. webapp/register/compare shows compared runs as a page."""
