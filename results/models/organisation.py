"""Who sends results and who vouches for them."""

from django.db import models


class Organisation(models.Model):
    """A vendor, a lab or the register itself; evidence, submissions and tokens belong to one."""

    class Kind(models.TextChoices):
        """What the organisation is to the register."""

        VENDOR = "vendor"
        LAB = "lab"
        REGISTER = "register"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name
