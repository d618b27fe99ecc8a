/** Wraps at spaces into lines of at most `width` columns; a wider word gets its own line. */
export function wrapText(text: string, width: number): readonly string[] {
  const rows: string[] = []
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    const last = rows.at(-1)
    if (last !== undefined && Array.from(last).length + 1 + Array.from(word).length <= width) rows[rows.length - 1] = `${last} ${word}`
    else rows.push(word)
  }
  return rows
}
