// Returns the time from connectNative to the first reply of a native host, in ms. Then it
// disconnects, and gives the host time to exit.
async (name) => {
  const { runtime } = globalThis.browser ?? chrome;
  const elapsed = await new Promise((resolve, reject) => {
    const start = performance.now();
    const port = runtime.connectNative(name);
    port.onDisconnect.addListener((p) => reject(new Error((p.error ?? runtime.lastError)?.message ?? "closed")));
    port.onMessage.addListener((message) => {
      if (message.id !== 1) return;
      resolve(performance.now() - start);
      port.disconnect();
    });
    port.postMessage({ jsonrpc: "2.0", id: 1, method: "host.hello" });
  });
  await new Promise((resolve) => setTimeout(resolve, 60));
  return elapsed;
}
