"use strict";
// What the page holds packed, its libraries, which start once they are unpacked, and files that it offers.
const page_parts = (() => {
  async function unpacked(id) {
    const packed = document.getElementById(id).textContent.trim();
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }

  const text = async (id) => new TextDecoder().decode(await unpacked(id));

  async function start() {
    const script = document.createElement("script");
    script.textContent = await text("packed-libraries");
    document.head.append(script);
  }

  // Has the browser save a text as a file of that name.
  function offer(name, text, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const quoted = (cell) => `"${cell.textContent.trim().replaceAll('"', '""')}"`;
  const csv = (table) => [...table.rows].map((row) => [...row.cells].map(quoted).join(",")).join("\n");

  // Statements to copy; where the browser gives no clipboard they are selected.
  for (const code of document.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy the statements. ${code.dataset.copy}`);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      } catch {
        getSelection().selectAllChildren(code);
      }
    });
    code.after(button);
  }

  return { unpacked, text, offer, csv, libraries: start() };
})();
