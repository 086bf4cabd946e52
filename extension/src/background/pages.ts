import type { Events, GasPrice, Methods, QuoteParams, Quoted } from "../wire/protocol";
import type { Link } from "../wire/link";
import type { PageMessage, PageRequest } from "../wire/page";
import { Failure, failureOf, type WireError } from "../wire/failure";
import { isObject } from "../wire/object";
import { type Handler } from "./handlers/handler";
import { handlerOf } from "./handlers/index";
import { type Native, wireErrorOf } from "./native";
import { type OfferListener, Watches } from "./watch";

/** isOwnPage reports whether a port comes from a page of this extension, as opposed to another
 * extension or a web page (content script or frame). */
export function isOwnPage(sender: chrome.runtime.MessageSender | undefined, self: { id: string; origin: string }): boolean {
	if (!sender || sender.id !== self.id || (sender.frameId ?? 0) !== 0) return false;
	return (sender.origin ?? self.origin) === self.origin && (sender.url ?? "").startsWith(`${self.origin}/`);
}

class Page implements OfferListener {
	constructor(
		readonly port: chrome.runtime.Port,
		readonly handler: Handler,
	) {}

	post(message: PageMessage): void {
		try {
			this.port.postMessage(message);
		} catch {
			// the port is closing; onDisconnect follows
		}
	}

	quoted(params: Quoted): void {
		this.post({ event: "swap.quoted", params });
	}

	taken(): void {
		this.post({ event: "watch.taken" });
	}
}

/** Pages holds the ports of this extension's pages. A request is checked by the handler
 * that the port's name selects; a notification goes to the pages whose handler wants it. */
export class Pages {
	private pages = new Set<Page>();
	private watches = new Watches();

	constructor(
		private readonly native: Native,
		private readonly self: { id: string; origin: string },
	) {}

	get open(): boolean {
		return this.pages.size > 0;
	}

	/** accept serves a page's port, and disconnects one that is not ours. */
	accept(port: chrome.runtime.Port): void {
		const handler = handlerOf(port.name);
		if (!handler || !isOwnPage(port.sender, this.self)) {
			port.disconnect();
			return;
		}
		const page = new Page(port, handler);
		this.pages.add(page);
		port.onMessage.addListener((request: PageRequest | null) => {
			if (isObject(request)) void this.serve(page, request);
		});
		port.onDisconnect.addListener(() => this.pageClosed(page));
		// Opening a page counts as asking for the host, also after endings that are not retried.
		if (this.native.link.at !== "ready") this.native.open();
		page.post({ link: this.native.link });
	}

	linkChanged(link: Link): void {
		for (const page of this.pages) page.post({ link });
	}

	notify<E extends keyof Events>(event: E, params: Events[E]): void {
		if (event === "swap.quoted") {
			this.watches.quoted(params as Quoted);
			return;
		}
		if (event === "gas.price" && !this.open) {
			// No page shows it, so the daemon can stop polling its nodes for each block.
			this.native.call("gas.watch", { chainId: (params as GasPrice).chainId, stop: true }).catch(() => {}); // if this fails, the next gas.price repeats it
			return;
		}
		for (const page of this.pages) if (page.handler.wantsEvent(event, params)) page.post({ event, params } as PageMessage);
	}

	private async serve(page: Page, request: PageRequest): Promise<void> {
		try {
			page.post({ id: request.id, result: await this.answer(page, request) });
		} catch (thrown) {
			const f = failureOf(thrown);
			const error: WireError = { code: f.code, message: f.message, data: { name: f.name, retryable: f.retryable, remedy: f.remedy, details: { ...f.details } } };
			page.post({ id: request.id, error });
		}
	}

	private async answer(page: Page, request: PageRequest): Promise<unknown> {
		if (request.method === "link.retry") {
			this.native.retryNow();
			return {};
		}
		const { method } = request;
		if (!page.handler.methods.includes(method)) throw new Failure(wireErrorOf("unknown_method", `${method} is not served to ${page.port.name}`));
		const params = (request.params ?? {}) as Methods[typeof method]["params"];
		if (method === "swap.watch" && !this.watches.owns(page)) return { watching: false };
		if (method === "swap.watch" && (params as Methods["swap.watch"]["params"]).stop) {
			this.watches.forget(page);
			return this.stop();
		}
		const narrowed = (page.handler.narrow?.(method, params) ?? params) as never; // parameters of that method
		return method === "swap.quote" ? this.quote(page, request.id, narrowed) : this.native.call(method, narrowed);
	}

	private async quote(page: Page, id: number, params: QuoteParams): Promise<unknown> {
		const turn = params.watch ? this.watches.take(page) : undefined;
		let call = 0;
		try {
			return await this.native.call("swap.quote", params, (sent) => this.watches.sent((call = sent), page, id, turn));
		} finally {
			this.watches.answered(call);
		}
	}

	private stop(): Promise<unknown> {
		return this.native.call("swap.watch", { stop: true });
	}

	private pageClosed(page: Page): void {
		this.pages.delete(page);
		if (this.watches.forget(page) && this.native.link.at === "ready") this.stop().catch(() => {});
	}
}
