/**
 * Loads the functions that measure, cut and wrap text. Their Unicode tables take tens of milliseconds to load, which a command that draws
 * nothing, such as a completion, must not cost.
 */
export async function loadTextDrawing() {
  const [{ createLinePainter, displayWidth, padToWidth, shorten }, { wrapText }] = await Promise.all([
    import('./styled-line.ts'),
    import('./wrap-text.ts'),
  ])
  return { createLinePainter, displayWidth, padToWidth, shorten, wrapText }
}
