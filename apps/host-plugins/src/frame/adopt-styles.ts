import { text } from 'virtual:host-styles'

let sheet: CSSStyleSheet | undefined

/**
 * Adds the style sheet to the document once. It is made by script, so that a content security policy of the host does not stop it. All its
 * rules apply below {@link FRAME_CLASS} only.
 */
export function adoptStyles(): void {
  if (sheet !== undefined) return
  sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}

/** Class of the element around everything that a plugin shows. */
export const FRAME_CLASS = 'tranche-host'
