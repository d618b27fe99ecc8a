export { createSimulator, type Simulator, type SimulatorNodes, type SimulatorOptions } from './create-simulator.ts'
export { nodeOf, project } from './project.ts'
export { recordEntries, type RecordOptions, recordWrites } from './record-writes.ts'
export {
  createFaultSchedule,
  ENDED_KEPT,
  type FaultSchedule,
  type FaultScheduleOptions,
  type FaultState,
  type FaultStatus,
} from './faults/fault-schedule.ts'
export { createFaultsApp, type FaultsServer, type FaultsServerOptions, listenForFaults } from './faults/faults-server.ts'
export { DOCUMENT_MAX_BYTES, type FaultFinding, faultsInvalid, findingText, parseFaults } from './faults/parse-faults.ts'
