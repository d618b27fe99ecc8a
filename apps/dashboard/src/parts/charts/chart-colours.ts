import type { Tone } from '../../format/outcome-text.ts'

/** Colours of a chart, as the canvas takes them. */
export interface ChartColours {
  readonly tones: Readonly<Record<Tone, string>>
  readonly text: string
  readonly line: string
}

/** Reads the colours of the theme from elements that have them: the value of a token itself may be a function of CSS. */
export function chartColours(box: Element): ChartColours {
  const probe = box.ownerDocument.createElement('span')
  box.append(probe)
  const style = getComputedStyle(probe)
  const colourOf = (name: string): string => {
    probe.className = name
    return style.color
  }
  const tones = {
    good: colourOf('tone-good'),
    busy: colourOf('tone-busy'),
    wait: colourOf('tone-wait'),
    bad: colourOf('tone-bad'),
    quiet: colourOf('tone-quiet'),
  }
  const colours = { tones, text: colourOf('chart-text'), line: colourOf('chart-line') }
  probe.remove()
  return colours
}
