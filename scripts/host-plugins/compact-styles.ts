/** Texts in quotes, which stay, and comments, which go. */
const TEXT_OR_COMMENT = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\/\*[\s\S]*?\*\//g

/** @returns the style sheet without comments, indents and most ends of lines: a host loads it with every page */
export function compactStyles(text: string): string {
  const plain = text.replaceAll(TEXT_OR_COMMENT, (_all, quoted: string | undefined) => quoted ?? '')
  const lines = plain
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  // After these signs a new line means nothing.
  return lines.reduce((all, line) => (all === '' || /[{};,]$/.test(all) ? all + line : `${all}\n${line}`), '')
}
