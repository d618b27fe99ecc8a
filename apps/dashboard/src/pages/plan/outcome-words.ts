import type { Forecast } from '@tranche/api-schema'
import type { StateLook } from '../../format/outcome-text.ts'

/** How the outcome of a forecast is shown. */
export const forecastLooks: Readonly<Record<Forecast['outcome'], StateLook>> = {
  Completes: { word: 'Completes', glyph: '✓', tone: 'good' },
  Stops: { word: 'Stops', glyph: '✕', tone: 'bad' },
  RollsBack: { word: 'Rolls back', glyph: '↩', tone: 'wait' },
  Blocked: { word: 'Gets stuck', glyph: '!', tone: 'bad' },
}
