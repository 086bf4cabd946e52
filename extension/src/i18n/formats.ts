/** numbers and dates return the browser's formatters, cached: creating one takes longer
 * than using it a hundred times. */
export const numbers = once((locale, options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
export const dates = once((locale, options?: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options));

function once<O, F>(make: (locale: string | undefined, options?: O) => F): (locale?: string, options?: O) => F {
	const made = new Map<string, F>();
	return (locale, options) => {
		const key = JSON.stringify([locale, options]);
		const format = made.get(key) ?? make(locale, options);
		made.set(key, format);
		return format;
	};
}
