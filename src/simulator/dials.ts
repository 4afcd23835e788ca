import type { VenueOptions } from './options.ts';

/** Settings that a drill turns for a moment while the venue runs. */
export class Dials {
  /** The settings as the exchange is to see them: read anew at each use. */
  readonly options: VenueOptions;
  private isCanceling = false;

  constructor(options: VenueOptions) {
    const probability = (): number => (this.isCanceling ? 1 : options.cancelProbability);
    this.options = {
      ...options,
      get cancelProbability() {
        return probability();
      },
    };
  }

  /** Runs `work`, in which every order that is accepted ends `Canceled`. */
  readonly canceling = <T>(work: () => T): T => {
    this.isCanceling = true;
    try {
      return work();
    } finally {
      this.isCanceling = false;
    }
  };
}
