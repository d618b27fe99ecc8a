export {
  createFaultSchedule,
  ENDED_KEPT,
  type FaultSchedule,
  type FaultScheduleOptions,
  type FaultState,
  type FaultStatus,
} from './fault-schedule.ts'
export { createFaultsApp, type FaultsServer, type FaultsServerOptions, listenForFaults } from './faults-server.ts'
export { DOCUMENT_MAX_BYTES, type FaultFinding, faultsInvalid, findingText, parseFaults } from './parse-faults.ts'
