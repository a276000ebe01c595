from tests.runners.campaigns.lab import campaign, fake_prep, new_campaign

__all__ = ["campaign", "fake_prep", "new_campaign"]
