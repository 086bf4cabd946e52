// Says what the host said until it answered a request.
const { runtime } = globalThis.browser ?? chrome;
globalThis.heard = new Promise((done) => {
  const port = runtime.connectNative("app.swapkeep.host"), messages = [];
  port.onDisconnect.addListener((p) => done({ error: (p.error ?? runtime.lastError)?.message ?? "closed", messages }));
  port.onMessage.addListener((message) => { messages.push(message); if (message.id === 1) done({ messages: [...messages] }); });
  port.postMessage({ jsonrpc: "2.0", id: 1, method: "host.hello" });
});
runtime.onMessage.addListener((_, from, reply) => { globalThis.heard.then(reply); return true; });
