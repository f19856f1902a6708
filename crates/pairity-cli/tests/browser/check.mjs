// Opens pages in Chromium and says what is wrong with them, one line each; no line, no fault.
//
//   node check.mjs CHROMIUM PAGE... [--shots FOLDER]
//
// Every page is opened wide and narrow, in the light and in the dark, and once as if on A4 paper. With --shots, pictures of
// all of these are kept in a folder, for people to look at.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// A4 without its margins is 680 pixels wide, at 96 an inch. The search for what is hard to use takes long, so it is made in
// each color and width once.
const VIEWS = [
  { name: "wide", width: 1280, scheme: "light", media: "screen", axe: true },
  { name: "narrow", width: 390, scheme: "light", media: "screen" },
  { name: "wide-dark", width: 1280, scheme: "dark", media: "screen" },
  { name: "narrow-dark", width: 390, scheme: "dark", media: "screen", axe: true },
  { name: "paper", width: 680, scheme: "light", media: "print" },
];

const parts = process.argv.slice(2);
const at = parts.indexOf("--shots");
const shots = at < 0 ? null : parts.splice(at, 2)[1];
const [executablePath, ...pages] = parts;

// What can be seen from inside a page. Runs in the browser.
function faultsInside() {
  const faults = [];
  const root = document.documentElement;
  const width = root.clientWidth;
  if (root.scrollWidth > width) faults.push(`is ${root.scrollWidth - width} pixels wider than the window`);
  const pictures = [...document.querySelectorAll("svg")].filter((svg) => !svg.ownerSVGElement);
  const shown = (element) => element.checkVisibility();
  for (const svg of pictures.filter(shown)) {
    const box = svg.getBoundingClientRect();
    if (!(box.width > 0 && box.height > 0)) faults.push(`has an empty picture: ${svg.outerHTML.slice(0, 120)}`);
  }
  if (pictures.length === 0) faults.push("has no pictures");
  // Letters that leave the window, unless they are in a part that scrolls.
  for (const text of document.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect();
    if (shown(text) && !text.closest(".scroll") && (box.left < 0 || box.right > width)) {
      faults.push(`has letters outside of the window: ${text.textContent}`);
    }
  }
  // Labels of one axis that run into each other.
  for (const svg of pictures.filter(shown)) {
    const boxes = [...svg.querySelectorAll("text:not(.axis-title)")].map((text) => text.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    if (boxes.some((a, i) => boxes.slice(i + 1).some((b) => meet(a, b)))) {
      faults.push(`has labels over each other: ${svg.textContent.slice(0, 80)}`);
    }
  }
  const expected = document.querySelector(".slider") ? 1 : 0;
  if (document.scripts.length > expected) faults.push("has scripts");
  if (globalThis.pairityWasTricked) faults.push("ran a script that came from the data");
  for (const region of document.querySelectorAll(".scroll")) {
    const wider = region.scrollWidth > region.clientWidth;
    if (wider && region.tabIndex < 0) faults.push("has a part that scrolls, but not with the keyboard");
  }
  return faults;
}

// Whether the keyboard reaches everything that it should. Runs in the browser, beside the presses of Tab.
const REACHABLE = "a[href], summary, input, [tabindex='0']";

async function keyboardFaults(page) {
  const count = await page.evaluate((reachable) => {
    document.activeElement?.blur();
    return [...document.querySelectorAll(reachable)].filter((element) => element.checkVisibility()).length;
  }, REACHABLE);
  const reached = new Set();
  for (let press = 0; press < count + 2; press += 1) {
    await page.keyboard.press("Tab");
    const place = await page.evaluate(
      (reachable) => [...document.querySelectorAll(reachable)].indexOf(document.activeElement),
      REACHABLE,
    );
    if (place >= 0) reached.add(place);
  }
  return reached.size < count ? [`lets the keyboard reach ${reached.size} of ${count} places`] : [];
}

// Whether a slider shows one choice at a time, as the keyboard moves it.
async function sliderFaults(page) {
  const faults = [];
  for (const slider of await page.locator(".chooser .slider input").all()) {
    const state = () =>
      slider.evaluate((input) => {
        const choices = [...input.closest(".chooser").querySelectorAll(".choice")];
        const shown = choices.filter((choice) => choice.checkVisibility()).map((choice) => choice.dataset.name);
        return { shown, all: choices.map((choice) => choice.dataset.name), said: input.ariaValueText };
      });
    const before = await slider.inputValue();
    await slider.focus();
    await page.keyboard.press("Home");
    for (let place = 0; ; place += 1) {
      const { shown, all, said } = await state();
      if (shown.length !== 1 || shown[0] !== all[place] || said !== all[place]) {
        faults.push(`has a slider at ${all[place]} that says ${said} and shows ${shown.join(", ")}`);
      }
      if (place + 1 >= all.length) break;
      await page.keyboard.press("ArrowRight");
    }
    await slider.fill(before);
  }
  return faults;
}

// Whether all that a slider chooses from can be read without scripts.
async function scriptlessFaults(browser, address) {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(address, { waitUntil: "load" });
  const hidden = (await page.locator(".choice").count()) - (await page.locator(".choice:visible").count());
  const sliders = await page.locator(".slider:visible").count();
  await context.close();
  const faults = [];
  if (hidden > 0) faults.push(`hides ${hidden} choices without scripts`);
  if (sliders > 0) faults.push("shows a slider that nothing moves");
  return faults;
}

// What axe finds, of any weight.
async function accessFaults(page) {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const found = await globalThis.axe.run(document, { resultTypes: ["violations"] });
    return found.violations.map(({ impact, id, nodes }) => ({ impact, id, nodes: nodes.slice(0, 2) }));
  });
  return violations.map(({ impact, id, nodes }) => {
    const where = nodes.map((node) => `${node.target} ${node.failureSummary}`);
    return `is hard to use (${impact}, ${id}): ${where.join("; ").replace(/\s+/g, " ")}`;
  });
}

async function check(browser, file, view) {
  const faults = [];
  const address = pathToFileURL(resolve(file)).href;
  const context = await browser.newContext({ viewport: { width: view.width, height: 900 }, colorScheme: view.scheme });
  const page = await context.newPage();
  await page.emulateMedia({ media: view.media, colorScheme: view.scheme });
  page.on("console", (message) => faults.push(`writes to the console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`throws: ${error}`));
  page.on("request", (request) => {
    if (request.url() !== address) faults.push(`asks for ${request.url()}`);
  });
  page.on("dialog", async (dialog) => {
    faults.push(`opens a dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.goto(address, { waitUntil: "load" });
  faults.push(...(await page.evaluate(faultsInside)));
  if (view.media === "screen") {
    if (view.axe) faults.push(...(await accessFaults(page)));
    // Behind lines that open, too.
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
    faults.push(...(await page.evaluate(faultsInside)));
    await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = false)));
    if (view.scheme === "light") faults.push(...(await keyboardFaults(page)), ...(await sliderFaults(page)));
    if (view.axe && (await page.locator(".slider").count()) > 0) faults.push(...(await scriptlessFaults(browser, address)));
  }
  if (shots) {
    await page.evaluate(() => (document.activeElement?.blur(), scrollTo(0, 0)));
    await page.screenshot({ path: join(shots, `${basename(file, ".html")}-${view.name}.png`), fullPage: true });
    if (view.media === "print") await page.pdf({ path: join(shots, `${basename(file, ".html")}.pdf`), preferCSSPageSize: true });
  }
  await context.close();
  return [...new Set(faults)].map((fault) => `${basename(file)}, ${view.name}: ${fault}`);
}

const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  for (const file of pages) {
    for (const view of VIEWS) {
      for (const fault of await check(browser, file, view)) console.log(fault);
    }
  }
} finally {
  await browser.close();
}
