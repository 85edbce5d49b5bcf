"use strict";
// What the page holds packed, and its libraries, which start once they are unpacked.
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

  return { unpacked, text, libraries: start() };
})();
