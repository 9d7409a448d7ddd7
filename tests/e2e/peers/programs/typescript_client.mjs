// A client on the TypeScript SDK: calls a tool, gives up, goes on, and prints what it saw as one
// line of JSON.  Every protocol line is the SDK's own.
//
//   node typescript_client.mjs MAJOR PLAN TOOL -- SERVER-COMMAND…
//
// PLAN: "on-progress" gives up at the first sign of progress, "soon" after a moment (such tools
// report none), "after-result" when it is too late, "never" not at all.
const [major, plan, tool, , command, ...args] = process.argv.slice(2);
const [{ Client }, { StdioClientTransport }] =
  major === "1"
    ? await Promise.all([
        import("@modelcontextprotocol/sdk/client/index.js"),
        import("@modelcontextprotocol/sdk/client/stdio.js"),
      ])
    : await Promise.all([
        import("@modelcontextprotocol/client"),
        import("@modelcontextprotocol/client/stdio"),
      ]);

const client = new Client({ name: "typescript", version: "0" });
const complaints = [];
let lost = false;
client.onerror = (error) => complaints.push(String(error.message));
client.onclose = () => (lost = true);
// The SDK's own environment for servers: a handful of variables and nothing else.
await client.connect(new StdioClientTransport({ command, args }));

const call = (params, options) =>
  major === "1" ? client.callTool(params, undefined, options) : client.callTool(params, options);
const attempt = async (promise) => {
  try {
    const value = await promise;
    return value.content?.[0]?.text ?? "ok";
  } catch (error) {
    return `failed: ${error.message}`;
  }
};

const giveUp = new AbortController();
const options = { signal: giveUp.signal };
if (plan === "on-progress") options.onprogress = () => giveUp.abort("the user pressed Escape");
if (plan === "soon") setTimeout(() => giveUp.abort("the user pressed Escape"), 200);
const argument = plan === "after-result" ? { timezone: "Europe/London" } : {};
const outcome = await attempt(call({ name: tool, arguments: argument }, options));
if (plan === "after-result") giveUp.abort("the tab was closed");

const again = plan === "after-result" ? { name: tool, arguments: argument } : { name: "settle" };
const nextCall = await attempt(call(again, { timeout: 5000 }));
const ping = await attempt(client.ping({ timeout: 4000 }));
console.log(JSON.stringify({ outcome, complaints, lost, next_call: nextCall, ping }));
await client.close();
process.exit(0);
