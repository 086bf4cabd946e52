// Elements of the page as a screen reader tells of them: role and accessible name,
// those only that a person could reach. Evaluates to an object of functions.
(() => {
	const inputs = {
		button: "button", submit: "button", reset: "button", image: "button", checkbox: "checkbox", radio: "radio", range: "slider",
		number: "spinbutton", search: "searchbox", email: "textbox", tel: "textbox", text: "textbox", url: "textbox", password: "textbox",
	};
	const tags = {
		A: (e) => (e.hasAttribute("href") ? "link" : ""),
		ARTICLE: "article", ASIDE: "complementary", BUTTON: "button", DIALOG: "dialog", DETAILS: "group", FIELDSET: "group", FIGURE: "figure",
		FOOTER: (e) => (e.closest("article, aside, main, nav, section") ? "" : "contentinfo"),
		HEADER: (e) => (e.closest("article, aside, main, nav, section") ? "" : "banner"),
		FORM: (e) => (named(e) ? "form" : ""),
		H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading", HR: "separator",
		IMG: (e) => (e.getAttribute("alt") === "" ? "" : "img"),
		INPUT: (e) => (e.list && ["textbox", "searchbox"].includes(inputs[e.type]) ? "combobox" : inputs[e.type] ?? ""),
		LI: "listitem", MAIN: "main", METER: "meter", NAV: "navigation", OL: "list", UL: "list", OPTION: "option", OUTPUT: "status", PROGRESS: "progressbar",
		SECTION: (e) => (named(e) ? "region" : ""),
		SELECT: (e) => (e.multiple || e.size > 1 ? "listbox" : "combobox"),
		SUMMARY: "button", TABLE: "table", TD: "cell", TH: "columnheader", TR: "row", TEXTAREA: "textbox",
	};
	// Roles whose name is what they contain, when nothing else names them.
	const byContent = new Set("button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab tooltip treeitem".split(" "));
	const squeeze = (text) => text.replace(/\s+/g, " ").trim();

	function role(e) {
		const given = (e.getAttribute("role") ?? "").trim().split(/\s+/)[0];
		if (given) return given === "none" || given === "presentation" ? "" : given;
		const implied = tags[e.tagName] ?? "";
		return typeof implied === "function" ? implied(e) : implied;
	}

	const refs = (e, attribute) => (e.getAttribute(attribute) ?? "").split(/\s+/).map((id) => id && document.getElementById(id)).filter(Boolean);
	const named = (e) => e.getAttribute("aria-label")?.trim() || refs(e, "aria-labelledby").length > 0 || e.getAttribute("title")?.trim();
	const hides = (e) => e.getAttribute("aria-hidden") === "true" || !e.checkVisibility({ visibilityProperty: true });

	// text is what a node says inside another's name. Hidden ones say nothing, unless
	// they are referred to by id themselves.
	function text(node, referred) {
		if (node.nodeType === Node.TEXT_NODE) return node.data;
		if (node.nodeType !== Node.ELEMENT_NODE || (!referred && hides(node))) return "";
		const label = node.getAttribute("aria-label")?.trim();
		if (label) return ` ${label} `;
		if (node.tagName === "IMG") return ` ${node.alt} `;
		if (node.tagName === "svg") return ` ${node.querySelector(":scope > title")?.textContent ?? ""} `;
		if (node.tagName === "INPUT" || node.tagName === "TEXTAREA") return ` ${node.value} `;
		if (node.tagName === "SELECT") return ` ${node.selectedOptions[0]?.text ?? ""} `;
		const inside = [...node.childNodes].map((n) => text(n, false)).join("");
		return getComputedStyle(node).display.startsWith("inline") ? inside : ` ${inside} `;
	}

	// labelled is the text of the labels around or for a field, without the field.
	const labelled = (e) => [...(e.labels ?? [])].map((l) => [...l.childNodes].map((n) => (n.contains(e) ? without(n, e) : text(n, false))).join(" ")).join(" ");
	const without = (node, field) => (node === field ? "" : [...node.childNodes].map((n) => (n.contains(field) ? without(n, field) : text(n, false))).join(" "));

	function native(e) {
		switch (e.tagName) {
			case "IMG": return e.alt;
			case "svg": return e.querySelector(":scope > title")?.textContent ?? "";
			case "FIELDSET": return e.querySelector(":scope > legend")?.textContent ?? "";
			case "TABLE": return e.caption?.textContent ?? "";
			case "FIGURE": return e.querySelector(":scope > figcaption")?.textContent ?? "";
			case "INPUT": return ["button", "submit", "reset"].includes(e.type) ? e.value : labelled(e);
			default: return labelled(e);
		}
	}

	function name(e) {
		const given = squeeze(refs(e, "aria-labelledby").map((r) => text(r, true)).join(" ")) || squeeze(e.getAttribute("aria-label") ?? "") || squeeze(native(e));
		if (given) return given;
		const inside = byContent.has(role(e)) ? squeeze([...e.childNodes].map((n) => text(n, false)).join("")) : "";
		return inside || squeeze(e.getAttribute("title") ?? "") || squeeze(e.getAttribute("placeholder") ?? "");
	}

	// reachable are the elements that are neither hidden nor behind a modal dialog.
	function reachable(root) {
		const modal = [...document.querySelectorAll("dialog:modal, [aria-modal='true']")].filter((e) => !hides(e)).at(-1);
		return [...root.querySelectorAll("*")].filter((e) => (!modal || modal.contains(e)) && e.checkVisibility({ visibilityProperty: true }) && !e.closest("[aria-hidden='true'], [inert]"));
	}

	// matches reports whether a name is the one wanted: any for "", a pattern for /…/.
	function matches(is, wanted) {
		if (wanted === "") return true;
		const pattern = wanted.length > 2 && wanted.startsWith("/") && wanted.endsWith("/");
		return pattern ? new RegExp(wanted.slice(1, -1)).test(is) : is === squeeze(wanted);
	}

	const off = (e) => e.matches(":disabled") || e.closest("[aria-disabled='true']") !== null;
	const state = (e) => ({
		role: role(e), name: name(e), text: squeeze(e.innerText ?? e.textContent), value: e.value === undefined ? "" : String(e.value), tag: e.tagName, disabled: off(e),
		checked: e.checked === true || e.getAttribute("aria-checked") === "true", selected: e.selected === true || e.getAttribute("aria-selected") === "true",
		expanded: e.getAttribute("aria-expanded") ?? "", pressed: e.getAttribute("aria-pressed") ?? "", current: e.getAttribute("aria-current") ?? "",
		invalid: e.getAttribute("aria-invalid") === "true" || e.matches(":user-invalid"),
		description: squeeze(e.getAttribute("aria-description") ?? refs(e, "aria-describedby").map((r) => text(r, true)).join(" ")),
		focused: e === document.activeElement,
	});

	// search finds the elements that a path of {roles, name} leads to, and besides,
	// when there is none, those that have a role of its last step.
	function search(path) {
		let roots = [document.body];
		for (const [i, step] of path.entries()) {
			const alike = roots.flatMap(reachable).filter((e) => step.roles.includes(role(e)));
			const found = [...new Set(alike)].filter((e) => matches(name(e), step.name));
			if (i === path.length - 1 || found.length !== 1) return { found, alike, step: i };
			roots = found;
		}
		return { found: roots, alike: [], step: 0 };
	}

	const describe = (e) => `${role(e)} "${name(e)}"`;

	// one is the only element that a path leads to, or why there is none such.
	function one(path) {
		const { found, alike, step } = search(path);
		const wanted = `${path[step].roles.join(" or ")} "${path[step].name}"`;
		if (found.length > 1) return { failure: `${found.length} elements are ${wanted}: ${found.map(describe).join(", ")}` };
		if (found.length === 0) return { failure: `no ${wanted}; there are: ${alike.map(describe).join(", ") || "none of that role"}` };
		return { element: found[0] };
	}

	// target is the middle of an element, or of a label that stands for it, and what
	// is there instead if it is covered.
	function target(element) {
		let covers = "nothing: it is outside of the page";
		for (const shown of [element, ...(element.labels ?? [])]) {
			const [box] = shown.getClientRects();
			if (!box) continue;
			const x = Math.floor(box.x + box.width / 2), y = Math.floor(box.y + box.height / 2);
			const hit = document.elementFromPoint(x, y);
			if (hit && (element.contains(hit) || hit.closest("label")?.control === element)) return { x, y };
			if (hit) covers = hit.outerHTML.slice(0, 120);
		}
		return { covers };
	}

	// place scrolls an element into view and tells where it can be clicked.
	async function place(path) {
		const { element, failure } = one(path);
		if (failure) return { failure };
		element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
		const before = element.getBoundingClientRect();
		await new Promise((done) => setTimeout(done, 20));
		const after = element.getBoundingClientRect();
		if (before.x !== after.x || before.y !== after.y || before.width !== after.width) return { failure: `${describe(element)} is moving` };
		const { x, y, covers } = target(element);
		return covers === undefined ? { ...state(element), x, y } : { failure: `${describe(element)} is covered by ${covers}` };
	}

	const look = (path) => { const { element, failure } = one(path); return failure ? { failure } : state(element); };
	return {
		place, look,
		focus: (path) => { const { element, failure } = one(path); element?.focus(); return { failure }; },
		all: (path) => search(path).found.map(state),
		// said is the visible text of the page or of the element that a path leads to.
		said(path) {
			if (path.length === 0) return { text: squeeze(document.body?.innerText ?? "") };
			const { element, failure } = one(path);
			return failure ? { failure } : { text: squeeze(element.innerText ?? element.textContent) };
		},
		focused: () => (document.activeElement && document.activeElement !== document.body ? state(document.activeElement) : { role: "", name: "" }),
		// options of a native select, as they are chosen by arrow keys.
		options(path) {
			const { element, failure } = one(path);
			return failure ? { failure } : { at: element.selectedIndex, names: [...element.options].map((o) => squeeze(o.label)), off: [...element.options].map((o) => o.disabled) };
		},
	};
})()
