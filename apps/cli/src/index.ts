export { type CommandIo, wantsColors, wantsUnicode } from './process/command-io.ts'
export { type ExitCode, exitCodes } from './process/exit-codes.ts'
export { listenForStop, StopRequested, whenAborted } from './process/stop-signals.ts'
export { userAgent, VERSION } from './process/version.ts'
export { readAllowHosts } from './options/allow-hosts.ts'
export { collect } from './options/collect.ts'
export { parseNamespace, toLeaseNamespace } from './options/namespace-options.ts'
export { invalid, misplaced, type NumberRange, parseChoice, parseWhole } from './options/option-values.ts'
export { pathOf, textOf, textsOf, type Values } from './options/value-of.ts'
export { durationText } from './view/duration-text.ts'
export { asciiGlyphs, type Glyphs, unicodeGlyphs } from './view/glyphs.ts'
export { versionOf } from './view/image-version.ts'
export { progressBar, type StepMark, stepMarks } from './view/progress-bar.ts'
export { wrapText } from './view/reports/wrap-text.ts'
export {
  createLinePainter,
  displayWidth,
  type LinePainter,
  padToWidth,
  printable,
  shorten,
  type Style,
  type StyledSpan,
} from './view/styled-line.ts'
export type { RedisCheck, RedisOptions } from './doctor/redis-check.ts'
export type { ForecastRelease } from './plan/forecast-release.ts'
export { createLiveScreen } from './terminal/live-screen.ts'
export { askPatiently } from './release-client/ask-patiently.ts'
export { certificateHint } from './release-client/certificate-hint.ts'
export { createProgram } from './program/create-program.ts'
export type { Exit, ProgramParts } from './program/program-parts.ts'
export { run } from './program/run.ts'
