const { i18n, storage, runtime } = globalThis.browser ?? chrome;
const at = (id) => document.getElementById(id);
const say = (text) => { at("status").textContent = text; };

at("greeting").textContent = i18n.getMessage("greeting");
storage.local.get("kept").then(({ kept }) => { at("kept").textContent = `kept: ${kept ?? "nothing"}`; });
at("agree").addEventListener("change", (e) => { at("submit").disabled = !e.target.checked; });
at("form").addEventListener("submit", (e) => { e.preventDefault(); at("review").showModal(); });
at("confirm").addEventListener("click", async (e) => {
	at("review").close();
	await storage.local.set({ kept: at("amount").value });
	say(`Accepted ${at("amount").value} on ${at("net").value}, ${e.isTrusted ? "by a person" : "by a script"}`);
});
at("late").addEventListener("click", () => { say("Wait"); setTimeout(() => say("Done"), 400); });
at("net").addEventListener("change", (e) => say(`Network ${e.target.value}`));
at("token").addEventListener("click", () => { at("tokens").hidden = false; });
at("tokens").addEventListener("click", (e) => { at("token").textContent = e.target.textContent; at("token").ariaLabel = `Token ${e.target.textContent}`; at("tokens").hidden = true; });
for (const b of document.querySelectorAll(".same")) {
	const of = b.parentElement.getAttribute("aria-label");
	b.addEventListener("click", () => navigator.clipboard.writeText(of).then(() => say(`Copied ${of}`)));
}
at("far").addEventListener("click", () => say("Reached"));
document.addEventListener("keydown", (e) => { at("pressed").textContent += `${e.isTrusted ? "" : "fake "}${e.shiftKey ? "Shift+" : ""}${e.key} `; });
globalThis.fail = (how) => ({
	throw: () => setTimeout(() => { throw new Error("nobody catches this"); }),
	log: () => console.error("logged", 7),
	policy: () => { const s = document.createElement("script"); s.textContent = "document.title = 'injected'"; document.body.append(s); },
	background: () => runtime.sendMessage("throw"),
})[how]();
