// Answers the page, and fails where it is asked to.
globalThis.answer = () => 42;
const { runtime } = globalThis.browser ?? chrome;
runtime.onMessage.addListener((message) => {
	if (message === "throw") setTimeout(() => { throw new Error("the background failed"); });
});
