export type { CelType } from './cel-type.ts'
export { estimatedCost } from './estimated-cost.ts'
export {
  type CelEnvironment,
  type CelLimits,
  type CelProgram,
  type CelResult,
  type Compiled,
  createCelEnvironment,
} from './environment.ts'
export type { CelMessages } from './message-literals.ts'
export { celFieldName } from './field-names.ts'
export { compilePattern, type Pattern } from './bounds/patterns.ts'
