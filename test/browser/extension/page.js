// Shows what the background heard, where a test can read it.
const { runtime } = globalThis.browser ?? chrome;
runtime.sendMessage("heard").then((heard) => { document.title = JSON.stringify(heard); });
