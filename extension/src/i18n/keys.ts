import type app from "../../messages/en/app.json";
import type components from "../../messages/en/components.json";
import type errors from "../../messages/en/errors.json";
import type lines from "../../messages/en/lines.json";
import type onboarding from "../../messages/en/onboarding.json";
import type order from "../../messages/en/order.json";
import type review from "../../messages/en/review.json";
import type screens from "../../messages/en/screens.json";
import type settings from "../../messages/en/settings.json";
import type states from "../../messages/en/states.json";
import type swap from "../../messages/en/swap.json";

/** All messages, by key. messages/en has one file per subject; the build merges them into
 * _locales. */
type All = typeof app & typeof components & typeof errors & typeof lines & typeof onboarding & typeof order & typeof review & typeof screens & typeof settings & typeof states & typeof swap;

export type MessageKey = keyof All;
