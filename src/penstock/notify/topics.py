"""What receivers outside are told of, by the names of the events."""

JOB_FINISHED, TASK_FINISHED = "scrape.job.finished", "scrape.task.finished"
#: A price rule came true; ops have to know something.
PRICE_ALERT, OPS_ALERT = "price.alert", "alert.told"
