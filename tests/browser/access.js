// Every text that is too faint on what is behind it, and everything that can be operated and has no name; through all
// shadow roots.
() => {
  const rgb = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const up = (node) => node.parentElement ?? node.getRootNode().host ?? null;
  const ground = (node) => { for (let at = node; at; at = up(at)) { const c = rgb(getComputedStyle(at).backgroundColor);
    if (c.length < 4 || c[3] > 0.9) return c; } return [255, 255, 255]; };
  const faint = [], nameless = [];
  const walk = (tree) => { for (const node of tree.querySelectorAll('*')) {
    if (node.shadowRoot) walk(node.shadowRoot);
    if (!node.checkVisibility?.() || node.closest('[hidden]')) continue;
    if (['BUTTON', 'SELECT', 'INPUT', 'TEXTAREA'].includes(node.tagName) || ['slider', 'tab', 'dialog'].includes(node.getAttribute('role')))
      if (!(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length)) nameless.push(node.outerHTML.slice(0, 90));
    const own = [...node.childNodes].filter((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own.length || node.disabled || ['STYLE', 'SCRIPT', 'OPTION'].includes(node.tagName)) continue;
    const a = light(rgb(getComputedStyle(node).color)), b = light(ground(node));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push([node.textContent.slice(0, 40), ratio]);
  } };
  walk(document);
  return { faint, nameless };
}
