// The banner of a status page for other sites:
//
//   <script src="https://status.example/embed.js" async></script>
//
// The banner is visible while the page has a message. It appears in place of the script, or fixed with data-position="top" or "bottom".
// With data-always it is always visible.
(() => {
  "use strict";
  const script = document.currentScript;
  const origin = new URL(script.src).origin;
  const frame = document.createElement("iframe");
  frame.src = `${origin}/embed/frame`;
  frame.title = "Status";
  frame.style.cssText = "display:block;width:100%;height:0;border:0;visibility:hidden;color-scheme:auto";
  const position = script.dataset.position;
  if (position === "top" || position === "bottom") {
    frame.style.position = "fixed";
    frame.style.left = "0";
    frame.style.zIndex = "2147483000";
    frame.style[position] = "0";
  }
  addEventListener("message", (e) => {
    if (e.source !== frame.contentWindow || e.origin !== origin || e.data?.heliograph !== "status") {
      return;
    }
    const there = Boolean(e.data.tells) || "always" in script.dataset;
    frame.style.visibility = there ? "visible" : "hidden";
    frame.style.height = there ? `${Math.min(Number(e.data.height) || 0, 240)}px` : "0";
  });
  const place = () => (position ? document.body.append(frame) : document.body.contains(script) ? script.after(frame) : document.body.prepend(frame));
  if (document.body) {
    place();
  } else {
    addEventListener("DOMContentLoaded", place);
  }
})();
