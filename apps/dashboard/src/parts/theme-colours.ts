import type { Tone } from '../format/outcome-text.ts'

/** Colours of the theme as a canvas takes them: those of the tones, and others by name. */
export type ThemeColours<K extends string> = Readonly<Record<K, string>> & { readonly tones: Readonly<Record<Tone, string>> }

const toneTokens: Readonly<Record<Tone, string>> = { good: '--good', busy: '--busy', wait: '--wait', bad: '--bad', quiet: '--quiet' }

/**
 * Reads the colours of the theme within an element. It asks an element that has them, because the value of a token itself may be a function of
 * CSS.
 *
 * @param tokens the other colours, by name
 */
export function themeColours<K extends string>(box: Element, tokens: Readonly<Record<K, string>>): ThemeColours<K> {
  const probe = box.ownerDocument.createElement('span')
  box.append(probe)
  const style = getComputedStyle(probe)
  const valuesOf = <N extends string>(names: Readonly<Record<N, string>>): Record<N, string> =>
    Object.fromEntries(
      Object.entries<string>(names).map(([name, token]) => {
        probe.style.color = `var(${token})`
        return [name, style.color]
      }),
    ) as Record<N, string>
  const colours = { ...valuesOf(tokens), tones: valuesOf(toneTokens) }
  probe.remove()
  return colours
}
