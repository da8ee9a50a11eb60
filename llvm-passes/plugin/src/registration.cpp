// Registers Heddle's passes with LLVM's new pass manager.
//
// This is C++ because that interface is: PassBuilder takes std::functions, and a pass is a type
// from which templates make the pass manager's objects. LLVM's C API can run a pipeline but not add
// a pass to one. Everything else, from the passes' names to their results, is in Rust (lib.rs).

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/LCSSA.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

using namespace llvm;

static_assert(LLVM_PLUGIN_API_VERSION == 1, "lib.rs declares PassPluginLibraryInfo as of version 1");

extern "C" {
/// Takes text that is Size bytes long.
typedef void (*Sink)(void *Context, const char *Text, size_t Size);

/// What lib.rs provides.
struct HeddlePasses {
  /// Whether a pipeline's element is one of the passes.
  bool (*Knows)(const char *Element, size_t Size);
  /// Whether a module has a kernel with a body.
  bool (*HasKernel)(LLVMModuleRef M);
  /// Gives the pipeline of all passes that attach metadata to Take.
  void (*Annotating)(Sink Take, void *Context);
  /// Runs the pass. 0: it failed and Error has the reason; 1: analyses are as good as before; 2:
  /// they are not.
  int (*Run)(const char *Element, size_t Size, LLVMModuleRef M, Sink Print, Sink Error, void *Context);
};

void heddle_register_passes(PassBuilder *PB, const HeddlePasses *Passes);
}

// opt takes it as any option. clang reads -mllvm before it loads a -fpass-plugin; -fplugin with the
// same file loads it in time.
static cl::opt<std::string> ClangPasses(
    "heddle-passes", cl::desc("Passes that Heddle's plug-in runs at the end of clang's pipeline on modules with kernels; without "
                              "this option, all that attach metadata"));

namespace {

/// One of Heddle's passes, by its element of the pipeline.
class HeddlePass : public PassInfoMixin<HeddlePass> {
  const HeddlePasses *Passes;
  std::string Element;

public:
  HeddlePass(const HeddlePasses *Passes, StringRef Element) : Passes(Passes), Element(Element.str()) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    auto Print = [](void *, const char *Text, size_t Size) { errs() << StringRef(Text, Size); };
    auto Error = [](void *Context, const char *Text, size_t Size) {
      static_cast<Module *>(Context)->getContext().emitError(StringRef(Text, Size));
    };
    int Result = Passes->Run(Element.data(), Element.size(), wrap(&M), Print, Error, &M);
    return Result == 1 ? PreservedAnalyses::all() : PreservedAnalyses::none();
  }

  void printPipeline(raw_ostream &OS, function_ref<StringRef(StringRef)>) { OS << Element; }

  /// Runs on functions that are not to be optimised, too: it does not optimise.
  static bool isRequired() { return true; }
};

/// Passes over a module if it has kernels, with all loops in LCSSA form.
class KernelPasses : public PassInfoMixin<KernelPasses> {
  const HeddlePasses *Passes;
  ModulePassManager Inner;
  /// What is wrong with the list of passes; a module's context reports it better than a fatal
  /// error, for which clang asks for bug reports.
  std::string Wrong;

public:
  KernelPasses(const HeddlePasses *Passes, ModulePassManager Inner, std::string Wrong)
      : Passes(Passes), Inner(std::move(Inner)), Wrong(std::move(Wrong)) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &AM) {
    if (!Wrong.empty()) {
      M.getContext().emitError("-heddle-passes=" + ClangPasses + ": " + Wrong);
      return PreservedAnalyses::all();
    }
    if (!Passes->HasKernel(wrap(&M)))
      return PreservedAnalyses::all();
    auto &FAM = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
    for (Function &F : M) {
      if (F.isDeclaration())
        continue;
      // Called directly: a pass manager would leave out functions of -O0, and the analyses need
      // LCSSA form there, too.
      FAM.invalidate(F, LoopSimplifyPass().run(F, FAM));
      FAM.invalidate(F, LCSSAPass().run(F, FAM));
    }
    Inner.run(M, AM);
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }
};

} // namespace

void heddle_register_passes(PassBuilder *PB, const HeddlePasses *Passes) {
  PB->registerPipelineParsingCallback(
      [Passes](StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement> Inner) {
        if (!Inner.empty() || !Passes->Knows(Name.data(), Name.size()))
          return false;
        MPM.addPass(HeddlePass(Passes, Name));
        return true;
      });
  PB->registerOptimizerLastEPCallback([PB, Passes](ModulePassManager &MPM, OptimizationLevel) {
    std::string Pipeline = ClangPasses;
    if (!ClangPasses.getNumOccurrences()) {
      auto Take = [](void *To, const char *Text, size_t Size) { static_cast<std::string *>(To)->assign(Text, Size); };
      Passes->Annotating(Take, &Pipeline);
    }
    if (Pipeline.empty())
      return;
    ModulePassManager Inner;
    Error E = PB->parsePassPipeline(Inner, Pipeline);
    MPM.addPass(KernelPasses(Passes, std::move(Inner), E ? toString(std::move(E)) : std::string()));
  });
}
