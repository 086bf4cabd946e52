// Returns the times between frames during `length` ms, and the number of notifications that
// arrived in that time.
async (length) => {
  const port = (globalThis.browser ?? chrome).runtime.connect({ name: "shell" });
  const gaps = [];
  let heard = 0;
  port.onMessage.addListener((message) => { if ("event" in message) heard++; });
  await new Promise((done) => {
    let before;
    const end = performance.now() + length;
    requestAnimationFrame(function next(now) {
      if (before !== undefined) gaps.push(now - before);
      before = now;
      if (now < end) requestAnimationFrame(next);
      else done();
    });
  });
  port.disconnect();
  return { gaps, heard };
}
