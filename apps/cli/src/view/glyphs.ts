/** Signs of a progress bar, each one column wide. */
export interface Glyphs {
  readonly bar: { readonly full: string; readonly part: string; readonly empty: string; readonly mark: string }
}

/** Signs for Unicode terminals. */
export const unicodeGlyphs: Glyphs = { bar: { full: '█', part: '▒', empty: '░', mark: '╵' } }

/** Signs for other terminals. */
export const asciiGlyphs: Glyphs = { bar: { full: '#', part: '+', empty: '.', mark: "'" } }
