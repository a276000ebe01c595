"""Parts that several lab pages share: consent, confirmation, drive status, outages and results."""
