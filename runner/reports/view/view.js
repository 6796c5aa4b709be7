// Keeps a page of `bench view` fresh: asks once a second whether the pages are new, and puts the new
// content in the place of the old. Scroll position, open parts and focus stay; a reload would make a
// screen reader begin again.
"use strict";

const script = document.currentScript;
let shown = script.dataset.version;
let asking = false;

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

const say = (text) => {
  document.getElementById("view-status").textContent = text;
};

// How an element is found again in the new page: by its id, or by its place among its like.
const places = (root, selector) =>
  [...root.querySelectorAll(selector)].map((element, number) => [element.id || `#${number}`, element]);

const refresh = async (told) => {
  const answer = await fetch(location.pathname, { cache: "no-store" });
  if (!answer.ok) {
    say("This page is not there any more.");
    shown = told.version;
    return;
  }
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const old = document.querySelector("main");
  const next = fresh.querySelector("main");
  const open = new Set(places(old, "details").filter(([, one]) => one.open).map(([place]) => place));
  for (const [place, one] of places(next, "details")) one.open = one.open || open.has(place);
  const stops = "a, summary, [tabindex]";
  const focused = places(old, stops).find(([, one]) => one === document.activeElement);
  const [x, y] = [scrollX, scrollY];
  old.replaceWith(document.adoptNode(next));
  document.title = fresh.title || document.title;
  const faults = fresh.getElementById("view-faults");
  if (faults) document.getElementById("view-faults").replaceWith(document.adoptNode(faults));
  if (focused) {
    const found = places(next, stops).find(([place]) => place === focused[0]);
    if (found) found[1].focus({ preventScroll: true });
  }
  scrollTo(x, y);
  shown = told.version;
  say(`Updated: ${count(told.reports, "report")}, ${count(told.runs, "run")}.`);
};

const look = async () => {
  if (asking || document.hidden) return;
  asking = true;
  try {
    const told = await (await fetch("version", { cache: "no-store" })).json();
    if (!told.version || told.version === shown) return;
    // Before the first pages there was nothing to keep, and no style.
    if (document.querySelector("link[rel=stylesheet]")) await refresh(told);
    else location.reload();
  } catch {
    say("The bench is not serving any more; this is what it showed last.");
  } finally {
    asking = false;
  }
};

setInterval(look, 1000);
document.addEventListener("visibilitychange", look);
