// Tells when a page's amount can be typed: in ms since the navigation to it began, at
// the end of the first frame that shows the field; and the scripts that it took.
globalThis.usable = new Promise((done) => {
  const field = () => document.querySelector("main input[inputmode=decimal]:enabled");
  // Vite names a module in a link before it is imported.
  const scripts = () => [...document.querySelectorAll("script[type=module], link[rel=modulepreload]")].map((e) => new URL(e.src ?? e.href).pathname);
  const drawn = () => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => done({ at: performance.now(), scripts: scripts() });
    port2.postMessage("after the frame");
  };
  const observer = new MutationObserver(() => {
    if (!field()) return;
    observer.disconnect();
    requestAnimationFrame(drawn);
  });
  observer.observe(document, { childList: true, subtree: true, attributes: true });
});
