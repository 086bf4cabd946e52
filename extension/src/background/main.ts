// The background holds one long-lived port to the host, shared by all pages of this extension.
// It keeps no wallet state and no secret, so the browser may end it at any time without loss.
import type { Order } from "../wire/protocol";
import { showBadge } from "./badge";
import { recordEnded, onUnseenChanged } from "./unseen-orders";
import { HOST, Native } from "./native";
import { Pages } from "./pages";

const native = new Native(
	{ connect: () => chrome.runtime.connectNative(HOST), lastError: () => chrome.runtime.lastError?.message, now: () => Date.now() },
	(link) => pages.linkChanged(link),
	(event, params) => {
		pages.notify(event, params);
		if (event === "swap.order" && !pages.open) recordEnded(params as Order);
	},
);
const pages = new Pages(native, { id: chrome.runtime.id, origin: chrome.runtime.getURL("").replace(/\/$/, "") });

chrome.runtime.onConnect.addListener((port) => pages.accept(port));
onUnseenChanged((ended) => showBadge(chrome.action, ended));
// Open the port when the browser starts, to be notified of orders while no page is open.
chrome.runtime.onStartup.addListener(() => native.open());
chrome.runtime.onInstalled.addListener(() => native.open());
