"""A session of the official client with `tickscope mcp`, in both kinds of revisions.

    session.py TICKSCOPE DIRECTORY NAME

NAME is a program that runs, with its ring in DIRECTORY. Ends with an error where an answer is not as promised.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

tickscope, directory, name = sys.argv[1:]
TOOLS = ["programs", "top", "why", "compare", "mark", "sites"]


def structured(result):
    """The answer of a tool, which has to have worked and to be short."""
    text = result.content[0].text
    assert not result.is_error, text
    assert len(text.encode()) <= 2_000, text
    assert json.loads(text) == result.structured_content, text
    return result.structured_content


async def session(mode, version, control):
    arguments = ["mcp", "--dir", directory] + ["--allow-control"] * control
    server = StdioServerParameters(command=tickscope, args=arguments)
    async with Client(stdio_client(server), mode=mode) as client:
        assert client.protocol_version == version, client.protocol_version
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == TOOLS, tools
        programs = structured(await client.call_tool("programs", {}))
        assert any(one["name"] == name and one["live"] for one in programs["programs"]), programs
        mark = structured(await client.call_tool("mark", {"target": name}))["mark"]
        await asyncio.sleep(0.3)
        since = structured(await client.call_tool("top", {"target": name, "since": mark}))
        assert since["unit"] == "ns" and since["shown"] <= since["total"], since
        changed = structured(await client.call_tool("compare", {"before": mark, "after": name, "by": "calls"}))
        before, after = changed["whole"]["calls"]
        assert after > before, changed
        sites = structured(await client.call_tool("sites", {"target": name}))
        assert sites["total"] > 0, sites
        function = since["functions"][0]["function"]
        why = await client.call_tool("why", {"function": function, "target": name, "seconds": 1})
        assert why.is_error != control, why
        if control:
            assert structured(why)["unit"] == "ns", why
        wrong = await client.call_tool("top", {"surplus": 1})
        assert wrong.is_error and "unknown field `surplus`" in wrong.content[0].text, wrong
        try:
            await client.call_tool("reset", {})
        except Exception as error:
            assert "no tool reset" in str(error), error
        else:
            raise AssertionError("a tool that is none was called")
    print(f"{mode}: {version}, {len(tools)} tools, {'control' if control else 'read-only'}")


asyncio.run(session("auto", "2026-07-28", False))
asyncio.run(session("auto", "2026-07-28", True))
asyncio.run(session("legacy", "2025-11-25", False))
