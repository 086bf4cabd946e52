// How long a native host takes from connectNative to its first answer, in ms. It is
// left before that comes back, and given the time to end.
async (name) => {
  const { runtime } = globalThis.browser ?? chrome;
  const took = await new Promise((done, fail) => {
    const began = performance.now();
    const port = runtime.connectNative(name);
    port.onDisconnect.addListener((p) => fail(new Error((p.error ?? runtime.lastError)?.message ?? "closed")));
    port.onMessage.addListener((message) => {
      if (message.id !== 1) return;
      done(performance.now() - began);
      port.disconnect();
    });
    port.postMessage({ jsonrpc: "2.0", id: 1, method: "host.hello" });
  });
  await new Promise((rested) => setTimeout(rested, 60));
  return took;
}
