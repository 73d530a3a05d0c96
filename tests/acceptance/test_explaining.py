"""`penstock explain`: gate by gate whether a URL may be fetched now."""

from tests.shell import Shell


async def test_explain_names_the_gate_that_decides_and_contacts_no_page(shell: Shell) -> None:
    ran = await shell.run("explain", "http://shop01.test/cart", "--json")

    [said] = ran.objects
    assert (ran.code, said["verdict"], said["gate"]) == (1, "no", "robots")
    assert "Disallow: /cart" in next(
        each["says"] for each in said["gates"] if each["gate"] == "robots"
    )
    assert [hit.path for hit in shell.site.hits] == ["/robots.txt"]


async def test_explain_says_yes_with_a_table_of_gates(shell: Shell) -> None:
    ran = await shell.run("explain", "http://shop01.test/product/1")

    assert ran.code == 0
    assert all(gate in ran.out for gate in ("admission", "robots", "hours", "breaker", "pacing"))


async def test_explain_contacts_nobody_where_it_may_not(shell: Shell) -> None:
    unknown = await shell.run("explain", "--no-robots", "http://shop01.test/product/1")
    inside = await shell.run("explain", "http://169.254.169.254/latest", "--json")

    assert unknown.code == inside.code == 1
    assert "not known yet" in unknown.out
    assert inside.objects[0]["gate"] == "admission"
    assert shell.site.hits == []
