export { createSimulator, type Simulator, type SimulatorNodes, type SimulatorOptions } from './create-simulator.ts'
export { nodeOf, project } from './project.ts'
export { recordEntries, type RecordOptions, recordWrites } from './record-writes.ts'
