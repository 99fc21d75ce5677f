import edu.berkeley.nlp.PCFGLA.CoarseToFineMaxRuleParser;
import edu.berkeley.nlp.PCFGLA.ParserData;
import edu.berkeley.nlp.PCFGLA.TreeAnnotations;
import edu.berkeley.nlp.syntax.Tree;
import edu.berkeley.nlp.util.Numberer;
import edu.berkeley.nlp.util.ScalingTools;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Parses by a grammar of the Berkeley Parser, and tells the posterior probability of every bracket and tag of the
 * max-rule tree: exact over the trees that the parser's pruning leaves. Its own command line tells that of whole trees.
 *
 *     java -cp BerkeleyParser-1.7.jar BerkeleyPosteriors.java GRAMMAR WORDS OUTPUT
 *
 * WORDS has a sentence a line, words between spaces; OUTPUT is for `--peer` of `benchmarks.accuracy.confidence`.
 */
public class BerkeleyPosteriors extends CoarseToFineMaxRuleParser {
    private final Map<String, Integer> stateByLabel = new HashMap<>();
    private final List<String> spans = new ArrayList<>();
    private final List<String> tags = new ArrayList<>();
    private final List<String> tagScores = new ArrayList<>();

    /** Take the settings of the parser's command line; states of phrases have the suffix "^g". */
    BerkeleyPosteriors(ParserData data) {
        super(data.getGrammar(), data.getLexicon(), 1.0, -1, false, false, false, false, false, true, true);
        binarization = data.getBinarization();
        for (int state = 0; state < data.getGrammar().numStates; state++) {
            stateByLabel.put(((String) tagNumberer.object(state)).replaceFirst("\\^g$", ""), state);
        }
    }

    public static void main(String[] arguments) throws IOException {
        ParserData data = ParserData.Load(arguments[0]);
        Numberer.setNumberers(data.getNumbs());
        BerkeleyPosteriors parser = new BerkeleyPosteriors(data);
        try (PrintWriter output = new PrintWriter(arguments[2], StandardCharsets.UTF_8)) {
            for (String sentence : Files.readAllLines(Path.of(arguments[1]))) {
                output.println(parser.parse(List.of(sentence.split(" "))));
            }
        }
    }

    /** Return the tree of a sentence as a JSON object; its lists are empty if there is no tree. */
    private String parse(List<String> words) {
        spans.clear();
        tags.clear();
        tagScores.clear();
        Tree<String> root = TreeAnnotations.unAnnotateTree(getBestConstrainedParse(words, null, false), false);
        int position = 0;
        for (Tree<String> child : root.getChildren()) {
            position = add(child, position);
        }
        return String.format("{\"spans\": %s, \"tags\": %s, \"tag_scores\": %s}", spans, tags, tagScores);
    }

    /** Add the brackets, in pre-order, and the tags of a subtree that begins at a word; return the end of the last. */
    private int add(Tree<String> node, int start) {
        String label = node.getLabel();
        if (node.isPreTerminal()) {
            tags.add('"' + label + '"');
            tagScores.add(posterior(label, start, start + 1));
            return start + 1;
        }
        int index = spans.size();
        spans.add(null);
        int end = start;
        for (Tree<String> child : node.getChildren()) {
            end = add(child, end);
        }
        spans.set(index, String.format("{\"start\": %d, \"end\": %d, \"label\": \"%s\", \"score\": %s}", start, end,
            label, posterior(label, start, end)));
        return end;
    }

    /**
     * Return the sum of inside times outside scores over the latent states of a category, divided by P(words); 0 for a
     * category in a unary chain that pruning has removed from the chart.
     */
    private String posterior(String label, int start, int end) {
        int state = stateByLabel.get(label);
        double[] inside = iScore[start][end][state];
        double[] outside = oScore[start][end][state];
        double sum = 0;
        for (int substate = 0; inside != null && substate < inside.length; substate++) {
            sum += inside[substate] * outside[substate];
        }
        if (sum > 0 && iScale != null) {  // 130 words or so: the parser's scaled recursion, for scores that would
            // underflow, counts unary chains more than once, so that the posteriors are too large
            int scale = iScale[start][end][state] + oScale[start][end][state] - iScale[0][length][0];
            sum *= ScalingTools.calcScaleFactor(scale);
        }
        return String.format(Locale.ROOT, "%.6f", Math.min(sum / iScore[0][length][0][0], 1));
    }
}
