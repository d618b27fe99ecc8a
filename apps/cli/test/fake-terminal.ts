/** A terminal that understands what the screen writes: lines, up, clear to the end of the line, clear below. */
export function terminal() {
  const written: string[] = []
  const rows: string[] = ['']
  let row = 0
  let onResize = (): void => {}
  const stream = {
    columns: 80,
    rows: 24,
    isTTY: true,
    on: (_event: 'resize', listener: () => void) => void (onResize = listener),
    off: () => {},
    write(text: string) {
      written.push(text)
      for (const [token] of text.matchAll(/\p{Cc}\[(?:\?\d+[hl]|\d*[AHKJ])|\p{Cc}|\P{Cc}+/gu)) apply(token)
    },
  }
  let column = 0
  return {
    stream,
    written,
    shown: () => rows.slice(0, row),
    resize(columns: number) {
      stream.columns = columns
      rows.splice(0, row, 'what the terminal makes of it')
      onResize()
    },
  }

  function apply(token: string): void {
    if (token === '\n') {
      row++
      column = 0
      rows[row] ??= ''
    } else if (token === '\r') column = 0
    else if (token.endsWith('A')) row -= Number(token.slice(2, -1))
    else if (token.endsWith('H')) row = column = 0
    else if (token.endsWith('2J')) rows.splice(0, rows.length, '')
    else if (token.endsWith('K')) rows[row] = rows[row]!.slice(0, column)
    else if (token.endsWith('J')) {
      rows[row] = rows[row]!.slice(0, column)
      rows.length = row + 1
    } else if (!token.startsWith('\u001b')) {
      rows[row] = rows[row]!.slice(0, column) + token + rows[row]!.slice(column + token.length)
      column += token.length
    }
  }
}
