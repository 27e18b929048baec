"""Who uses the lab. Roles are Django groups; what each may do is in `people.access`."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person. Created with a one-time password, which the first log-in replaces."""

    must_change_password = models.BooleanField(default=False)
