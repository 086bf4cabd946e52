// A promise of the time when an amount can be typed on this page, which is the end of the
// first frame that shows the enabled field, in ms since the navigation to the page began; and
// of the paths of the scripts that the page loaded.
globalThis.usable = new Promise((done) => {
  const field = () => document.querySelector("main input[inputmode=decimal]:enabled");
  // Vite adds a modulepreload link for each module before it is imported.
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
