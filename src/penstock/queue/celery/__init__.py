"""The distribution of the queue by Celery and RabbitMQ: messages out, messages in."""

from penstock.queue.celery.consumer import CeleryConsumer
from penstock.queue.celery.nudger import CeleryNudger

__all__ = ["CeleryConsumer", "CeleryNudger"]
