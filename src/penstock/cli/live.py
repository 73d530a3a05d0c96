"""`penstock live`: pages that change by the second, watched for as long as they do."""

import typer

from penstock.cli import live_feeds, live_news, live_run, live_watch

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="""Watch pages that change by the second, for as long as they do.

    Follow one in the terminal, without a store:  penstock live watch URL --select score=.score

    Have it watched and kept:  penstock live start URL --id final --select score=.score

    By a process that runs:  penstock live run, or penstock up

    See how fresh it is, and what was new:  penstock live list; penstock live updates final -f""",
)
app.command()(live_watch.watch)
app.command()(live_feeds.start)
app.command()(live_run.run)
app.command("list")(live_feeds.list_feeds)
app.command()(live_feeds.show)
app.command()(live_news.updates)
app.command()(live_feeds.stop)
app.command()(live_feeds.restart)
app.command()(live_feeds.remove)
app.command()(live_news.errors)
app.command()(live_news.resolve)
app.command()(live_news.health)
app.command()(live_news.adapters)
