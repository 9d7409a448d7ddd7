// A WebSocket client on the TypeScript SDK 1.x: calls a tool, gives up at the first sign of
// progress, goes on, and prints what it saw as one line of JSON.
//
//   node typescript_web_client.mjs PLAN TOOL -- URL
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js";
import { WebSocket } from "ws";

globalThis.WebSocket = WebSocket; // Node has one of its own from version 22 on
const [, tool, , url] = process.argv.slice(2);

const client = new Client({ name: "typescript", version: "0" });
const complaints = [];
let lost = false;
client.onerror = (error) => complaints.push(String(error.message));
client.onclose = () => (lost = true);
await client.connect(new WebSocketClientTransport(new URL(url)));

const attempt = async (promise) => {
  try {
    const value = await promise;
    return value.content?.[0]?.text ?? "ok";
  } catch (error) {
    return `failed: ${error.message}`;
  }
};

const giveUp = new AbortController();
const options = { signal: giveUp.signal, onprogress: () => giveUp.abort("Escape") };
const outcome = await attempt(client.callTool({ name: tool, arguments: {} }, undefined, options));
const again = client.callTool({ name: "settle", arguments: {} }, undefined, { timeout: 5000 });
const nextCall = await attempt(again);
const ping = await attempt(client.ping({ timeout: 4000 }));
console.log(JSON.stringify({ outcome, complaints, lost, next_call: nextCall, ping }));
await client.close();
process.exit(0);
